from multiprocessing import ThreadPool as Pool
from threading import Thread as Process
